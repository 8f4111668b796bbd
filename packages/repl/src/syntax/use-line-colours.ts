import { useEffect, useState } from "preact/hooks";
import { hasCodeLanguage } from "../look/code-language.ts";
import type { ColouredPart } from "./line-colours.ts";

/** The coloured parts of each line of a text. */
export type LineColours = readonly (readonly ColouredPart[])[];

/** Characters beyond which a text stays without colours: reading it would hold up the page. */
const maxText = 300_000;

const none: LineColours = [];

/**
 * The colours of a text, in the language that its path names. Empty until they are there: parsers are fetched when the first text of
 * their language is shown, and a text without colours is as good to read.
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
