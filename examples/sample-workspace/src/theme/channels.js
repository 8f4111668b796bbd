/**
 * A colour by its three channels, each 0 to 255.
 * @typedef {object} Colour
 * @property {number} red
 * @property {number} green
 * @property {number} blue
 */

/**
 * Reads `#rgb` or `#rrggbb`; undefined for anything else.
 * @param {string} text
 * @returns {Colour | undefined}
 */
export function parseColour(text) {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  const digits = short === null ? text.slice(1) : short.slice(1).map((digit) => digit + digit).join("");
  if (!text.startsWith("#") || !/^[0-9a-f]{6}$/i.test(digits)) return undefined;
  const channel = (/** @type {number} */ start) => Number.parseInt(digits.slice(start, start + 2), 16);
  return { red: channel(0), green: channel(2), blue: channel(4) };
}

/**
 * How bright a colour looks, 0 (black) to 1 (white).
 * @param {Colour} colour
 */
export function brightness(colour) {
  return (0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue) / 255;
}

/**
 * The text colour that is easier to read on this colour.
 * @param {Colour} colour
 */
export function textColourOn(colour) {
  return brightness(colour) > 0.55 ? "#000000" : "#ffffff";
}
