/**
 * Milliseconds for whatever takes a window, an extension host and a server: on a machine that does much else at the same time,
 * what takes one second can take thirty. A wait ends as soon as its condition holds.
 */
export const patience = 90_000;
