/** Prompts offered to new users: the offline assistant understands them, and they change nothing. */
export const firstPrompts: readonly string[] = ["list the files", "help"];
