import { testEveryday, testGrammar, testHostile, testKills, testMeanwhile } from "./effect-tests.ts";

const timeout = 300_000;

testHostile(timeout, 4);
testEveryday(timeout, 4);
testGrammar(timeout, 200);
testKills(timeout, 2);
testMeanwhile(timeout, 3);
