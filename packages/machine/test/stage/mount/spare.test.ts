import { testAsUsers } from "../as-users.ts";
import { scenarios } from "./spare-scenarios.ts";

testAsUsers({ file: new URL("spare-scenarios.ts", import.meta.url).href, scenarios });
