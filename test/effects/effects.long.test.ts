import { testEveryday, testGrammar, testHostile, testKills, testMeanwhile } from "./effect-tests.ts";

const anHour = 3_600_000;

testHostile(anHour);
testEveryday(anHour);
testGrammar(anHour, 10_000);
testKills(anHour, 100);
testMeanwhile(anHour, 60);
