"""Chat: messages and tokens, a tokenizer that comes with it, and users who want something."""

from ludus.envs.open.chat.chat import Chat, ChatAction, ChatObservation, ChatState

__all__ = ["Chat", "ChatAction", "ChatObservation", "ChatState"]
