"""What is handed out and handed in: kits, the scan for leaks, and a student's work in a kit."""
