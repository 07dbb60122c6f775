"""Layer 3, decided: what is learned, proven, looked up, credited and unlearned. All of it pure."""
