import { scenarios } from "./ahead-scenarios.ts";
import { testAsUsers } from "./as-users.ts";

testAsUsers(new URL("ahead-scenarios.ts", import.meta.url).href, scenarios);
