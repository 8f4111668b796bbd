/** What is offered to one who does not know yet what to ask for: the offline assistant understands it, and it changes nothing. */
export const firstPrompts: readonly string[] = ["list the files", "help"];
