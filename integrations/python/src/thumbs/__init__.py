"""The command `thumbs`: see `thumbs_worker` for what Python programs call."""
