"""Three sites of our own (shop, forum, tracker): seeded data, no port, and tasks judged by what the site holds."""

from ludus.envs.open.browsergym.sites.episode import SITES, SiteEpisode, site_tasks

__all__ = ["SITES", "SiteEpisode", "site_tasks"]
