"""Translation of new text with a trained system, bundles, and export for other decoders."""
