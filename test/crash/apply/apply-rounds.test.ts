import { test } from "vitest";
import { crashOptions, crashTimeout } from "../crash-options.ts";
import { applyRounds } from "./apply-rounds.ts";

const options = crashOptions(4);
test("a set of changes is whole or undone, whenever it is killed", { timeout: crashTimeout(options) }, () =>
  applyRounds(options),
);
