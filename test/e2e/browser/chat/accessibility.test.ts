import { testSights } from "./accessible-sights.ts";

// Of three sights one on a screen, another on a phone; the long test examines all on both.
testSights((at, where) => at % 3 === (where === "screen" ? 0 : 1));
