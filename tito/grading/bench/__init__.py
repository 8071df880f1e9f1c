"""What grading a class costs, shown with a class that nobody belongs to (`tito grade bench`)."""
