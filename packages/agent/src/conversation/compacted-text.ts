/** What a model reads in place of the first messages. @param facts what the server recorded of them; either may be empty */
export function compactedText(summary: string, facts: string): string {
  // A summary must not be able to pose as what the server recorded.
  const told = summary.replaceAll(/<(\/?)(summary|recorded)/gi, "&lt;$1$2");
  const parts = [
    "[The conversation up to here was shortened.]",
    ...(told === "" ? [] : [`A summary of it, by the model that had it:\n<summary>\n${told}\n</summary>`]),
    ...(facts === "" ? [] : [`What the server recorded; where the summary says otherwise, this is right:\n\n${facts}`]),
  ];
  return parts.join("\n\n");
}

export function bounded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()} […]`;
}
