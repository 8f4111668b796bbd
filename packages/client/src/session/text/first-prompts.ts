/** What is offered to one who does not know yet what to ask for: nothing of it has to be written. */
export const firstPrompts: readonly string[] = ["show the files of this workspace", "help"];
