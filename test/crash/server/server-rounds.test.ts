import { test } from "vitest";
import { crashOptions } from "../crash-options.ts";
import { fewestServerRounds, serverRounds } from "./server-rounds.ts";

const options = crashOptions(fewestServerRounds);
test("a server killed in the middle of turns, questions, proposals and runs of plans loses nothing and doubles nothing", () =>
  serverRounds(options));
