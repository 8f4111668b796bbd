import { sampleOf } from "../../scripts/lib/tests/sample.mjs";
import { testEveryday, testGrammar, testHostile, testKills, testMeanwhile } from "./effect-tests.ts";

const timeout = 300_000;

testHostile(timeout, 2);
testEveryday(timeout, 4);
testGrammar(timeout, 200);
for (const declare of sampleOf([() => testKills(timeout, 2), () => testMeanwhile(timeout, 3)], 1)) declare();
