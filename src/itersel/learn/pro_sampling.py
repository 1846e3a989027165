"""How PRO samples pairs of translations, also for configs, which should not import arrays."""

# Hopkins & May 2011, section 4: Gamma pairs are drawn, those that are less than the threshold of alpha apart
# in quality are dropped, and the Xi that are furthest apart are kept.
PRO_DRAWN = 5000
PRO_THRESHOLD = 0.05
PRO_KEPT = 50
