import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./commit-scenarios.ts";

testAsUsers(new URL("commit-scenarios.ts", import.meta.url).href, scenarios);
