import { seed } from "../../sample.ts";
import { testReplicas } from "./replica-tests.ts";

/** One of so many. */
const share = 6;

testReplicas(`some scenes (seed ${seed})`, (index) => (index + seed) % share === 0);
