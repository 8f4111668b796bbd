import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./observe-scenarios.ts";

testAsUsers(new URL("observe-scenarios.ts", import.meta.url).href, scenarios);
