import { useEffect, useState } from "preact/hooks";
import { hasCodeLanguage } from "./code-language.ts";
import type { ColouredPart } from "./line-colours.ts";

/** The coloured parts of each line of a text. */
export type LineColours = readonly (readonly ColouredPart[])[];

/** Longest text that gets colours, in characters: parsing a longer one would block the page. */
const maxText = 300_000;

const none: LineColours = [];

/**
 * The colours of a text, in the language that its path names. Empty until they are ready: a parser is fetched when the first text
 * of its language is shown, and the text is readable without colours.
 */
export function useLineColours(path: string, text: string | undefined): LineColours {
  const [colours, setColours] = useState({ text, lines: none });
  const hasLanguage = hasCodeLanguage(path);
  useEffect(() => {
    if (text === undefined || text === "" || !hasLanguage || text.length > maxText) return undefined;
    let isOver = false;
    import("./colour-text.ts")
      .then(({ colourText }) => colourText(text, path))
      .then((lines) => {
        if (!isOver) setColours({ text, lines });
      })
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [text, path, hasLanguage]);
  return colours.text === text ? colours.lines : none;
}
