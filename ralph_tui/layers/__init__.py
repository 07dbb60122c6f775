"""What is decided, pure: a package per layer, and the governor that folds two of them."""
