"""The page of a run: one HTML file with tables, charts and translations, which needs no network."""
