import { test } from "vitest";
import { crashOptions } from "../crash-options.ts";
import { applyRounds } from "./apply-rounds.ts";

const options = crashOptions(4);
test("a set of changes is whole or undone, whenever it is killed", () => applyRounds(options));
