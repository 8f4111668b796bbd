import { sights } from "../../look/sights.ts";
import { testSights } from "./accessible-sights.ts";

testSights(sights, sights);
