import { roundsOf } from "../scripts/lib/tests/sample.mjs";

const minute = 60_000;

/** Milliseconds after which a test hangs: none has a limit of its own, or measures time. Some of `--all` take an hour. */
export const hangLimit = roundsOf({ few: 30, whole: 240 }) * minute;
