import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./meanwhile-scenarios.ts";

testAsUsers(new URL("meanwhile-scenarios.ts", import.meta.url).href, scenarios);
