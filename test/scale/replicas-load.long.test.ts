import { testKilledUnderLoad, testLeftAlone } from "./load-tests.ts";

const load = { sessions: 8, turns: 2 };

testKilledUnderLoad(load);
testLeftAlone(load);
