"""Draws the project's test pictures. Run `Scripts/make-test-images`; start reading at `gallery.py`."""
