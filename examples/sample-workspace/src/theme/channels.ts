/** A colour by its three channels, each 0 to 255. */
export interface Colour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
}

/** Reads `#rgb` or `#rrggbb`; undefined for anything else. */
export function parseColour(text: string): Colour | undefined {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  const digits = short === null ? text.slice(1) : short.slice(1).map((digit) => digit + digit).join("");
  if (!text.startsWith("#") || !/^[0-9a-f]{6}$/i.test(digits)) return undefined;
  const channel = (start: number) => Number.parseInt(digits.slice(start, start + 2), 16);
  return { red: channel(0), green: channel(2), blue: channel(4) };
}

/** How bright a colour looks, 0 (black) to 1 (white). */
export function brightness(colour: Colour): number {
  return (0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue) / 255;
}

/** The text colour that is easier to read on this colour. */
export function textColourOn(colour: Colour): "#000000" | "#ffffff" {
  return brightness(colour) > 0.55 ? "#000000" : "#ffffff";
}
