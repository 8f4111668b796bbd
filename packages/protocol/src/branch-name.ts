import { sha256Hex } from "./digest.ts";

const longestSlug = 40;

/** `ai-agent/<slug>` for a request: ASCII words of it, at most 40 characters, cut between words. */
export function branchNameFor(request: string): string {
  const words = firstParagraph(request)
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  let slug = "";
  for (const word of words ?? []) {
    const longer = slug === "" ? word.slice(0, longestSlug) : `${slug}-${word}`;
    if (longer.length > longestSlug) break;
    slug = longer;
  }
  // A request in another script has no such words: a digest keeps two of them apart.
  if (slug === "") slug = `task-${sha256Hex(request).slice(0, 8)}`;
  return `ai-agent/${slug}`;
}

/** What a request says first. What is pasted or piped in behind it does not name it. */
export function firstParagraph(request: string): string {
  return request.trim().split(/\n\s*\n/, 1)[0] ?? "";
}
