import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./git-scenarios.ts";

testAsUsers(new URL("git-scenarios.ts", import.meta.url).href, scenarios);
