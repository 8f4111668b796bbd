/** Code points that file systems or readers ignore: zero width, joiners, bidi marks, variation selectors, tags. */
const ignorable =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]/g;

/**
 * One path component in the form used to compare protected names: without anything that some file system drops or folds (letter
 * case, Unicode form, ignorable code points, trailing dots and spaces, alternate streams).
 */
export function foldName(component: string): string {
  if (/^[a-z0-9_.-]*[a-z0-9_-]$/.test(component)) return component;
  const plain = component.normalize("NFC").replace(ignorable, "").replace(/:.*$/s, "").toLowerCase();
  const trimmed = plain.replace(/[. ]+$/, "");
  return trimmed === "" ? plain : trimmed;
}

/** A path as folded components; `\` separates as well, because on some systems it does. */
export function foldPath(path: string): readonly string[] {
  return path
    .split(/[/\\]+/)
    .filter((component) => component !== "")
    .map(foldName);
}
