import { testKilledUnderLoad } from "./load-tests.ts";

testKilledUnderLoad({ sessions: 3, turns: 2 });
