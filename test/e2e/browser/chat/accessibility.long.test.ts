import { testSights } from "./accessible-sights.ts";

testSights(() => true);
