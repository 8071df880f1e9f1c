"""How the student's process comes to be: one interface, several engines."""
