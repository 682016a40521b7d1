ALTER TABLE "offhook"."calls" ADD COLUMN "duration_ms" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "worst_reply_ms" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "median_reply_ms" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "campaign_id" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "answered_by" text;--> statement-breakpoint
CREATE INDEX "calls_by_end_reason" ON "offhook"."calls" USING btree ("tenant_id","end_reason","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_campaign" ON "offhook"."calls" USING btree ("tenant_id","campaign_id","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "calls_by_answered_by" ON "offhook"."calls" USING btree ("tenant_id","answered_by","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE answered_by IS NOT NULL;--> statement-breakpoint
CREATE INDEX "calls_by_reply" ON "offhook"."calls" USING btree ("tenant_id","worst_reply_ms") WHERE worst_reply_ms IS NOT NULL;--> statement-breakpoint
CREATE INDEX "calls_by_duration" ON "offhook"."calls" USING btree ("tenant_id","duration_ms");--> statement-breakpoint
UPDATE "offhook"."calls" SET "duration_ms" = greatest(0, "ended_at_ms" - "started_at_ms") WHERE "ended_at_ms" IS NOT NULL;--> statement-breakpoint
UPDATE "offhook"."calls" AS c SET "worst_reply_ms" = r.worst, "median_reply_ms" = r.median FROM (
  SELECT "tenant_id", "call_id", round(max(("latencies"->>'total')::float8))::bigint AS worst, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ("latencies"->>'total')::float8))::bigint AS median
  FROM "offhook"."turns" WHERE "input_kind" IN ('spoken', 'keyed') AND "latencies"->>'total' IS NOT NULL GROUP BY "tenant_id", "call_id"
) AS r WHERE c."tenant_id" = r."tenant_id" AND c."id" = r."call_id";--> statement-breakpoint
UPDATE "offhook"."calls" AS c SET "campaign_id" = a."campaign_id", "answered_by" = a."answered_by" FROM "offhook"."attempts" AS a
  WHERE c."tenant_id" = a."tenant_id" AND c."id" = a."id" AND c."text_erased_at_ms" IS NULL;
