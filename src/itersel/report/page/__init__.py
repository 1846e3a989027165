"""The page of a run: one HTML file with tables, charts and translations that needs no network."""
