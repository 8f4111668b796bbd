import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./kill-scenarios.ts";

testAsUsers(new URL("kill-scenarios.ts", import.meta.url).href, scenarios);
