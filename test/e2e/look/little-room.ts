/** Rooms in which all of it must still be used: what zooming leaves of a window in CSS pixels, and the least that VS Code gives a side bar. */
export const littleRoom = [
  { name: "half of a window at 200 %", width: 320, height: 400 },
  { name: "the narrowest side bar", width: 175, height: 700 },
] as const;
