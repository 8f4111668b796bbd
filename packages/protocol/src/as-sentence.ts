/** Programs and people end what they say as they like, and something is said behind it. */
export function asSentence(text: string): string {
  return /[.!?…)\]"'”]$/.test(text) ? text : `${text}.`;
}
