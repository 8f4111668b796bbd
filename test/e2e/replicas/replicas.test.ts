import { testReplicas } from "./replica-tests.ts";

/** Which scenes are tried: the same seed, the same ones. */
const seed = Number(process.env["GENNAI_REPLICAS_SEED"] || Date.now() % 1_000_000);
/** One of so many. */
const share = 4;

testReplicas(`some scenes (seed ${seed})`, (index) => (index + seed) % share === 0);
