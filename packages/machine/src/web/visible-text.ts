/** Tags, fillers, zero-width and direction marks, variation selectors, control, private and unassigned characters. */
const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Joiners and the emoji form, which are part of a visible character if single and after a letter or an emoji. */
const joined = /(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d\ufe0f]/u;

/**
 * A text without the characters that its reader cannot see, because those must not speak to a model. Line ends become LF; tabs,
 * emoji and the joiners of scripts that need them stay.
 */
export function visibleText(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(invisible, (character, at: number) => {
    if (character === "\n" || character === "\t") return character;
    return joined.test(text.slice(Math.max(0, at - 2), at + 1)) ? character : "";
  });
}
