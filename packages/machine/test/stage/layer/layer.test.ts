import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./layer-scenarios.ts";

testAsUsers(new URL("layer-scenarios.ts", import.meta.url).href, scenarios);
