import { sights } from "../../look/sights.ts";
import { testSights } from "./accessible-sights.ts";

/** Of three sights one on a screen, another on a phone; the long test shows all on both. */
const everyThird = (from: number) => sights.filter((_sight, at) => at % 3 === from);

testSights(everyThird(0), everyThird(1));
