CREATE TABLE "offhook"."comments" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"id" text NOT NULL,
	"by" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"personal" "bytea" NOT NULL,
	CONSTRAINT "comments_tenant_id_call_id_id_pk" PRIMARY KEY("tenant_id","call_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."comments" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."reviews" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"started_at_ms" bigint NOT NULL,
	"bot_name" text NOT NULL,
	"found" jsonb NOT NULL,
	"judged" jsonb NOT NULL,
	"reasons" text[] NOT NULL,
	"state" text NOT NULL,
	"labels" text[] NOT NULL,
	"assignee" text,
	"changed_by" text,
	"changed_at_ms" bigint,
	CONSTRAINT "reviews_tenant_id_call_id_pk" PRIMARY KEY("tenant_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."reviews" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."rollups" (
	"tenant_id" text NOT NULL,
	"slot_ms" bigint NOT NULL,
	"bot_name" text NOT NULL,
	"bot_version" text NOT NULL,
	"direction" text NOT NULL,
	"currency" text NOT NULL,
	"cost_micros" bigint DEFAULT 0 NOT NULL,
	"calls" integer DEFAULT 0 NOT NULL,
	"answered" integer DEFAULT 0 NOT NULL,
	"contained" integer DEFAULT 0 NOT NULL,
	"transferred" integer DEFAULT 0 NOT NULL,
	"given_up" integer DEFAULT 0 NOT NULL,
	"opted_out" integer DEFAULT 0 NOT NULL,
	"cut_off_calls" integer DEFAULT 0 NOT NULL,
	"cut_offs" integer DEFAULT 0 NOT NULL,
	"not_understood_calls" integer DEFAULT 0 NOT NULL,
	"not_understood" integer DEFAULT 0 NOT NULL,
	"duration_s" integer DEFAULT 0 NOT NULL,
	"ended_finished" integer DEFAULT 0 NOT NULL,
	"ended_transferred" integer DEFAULT 0 NOT NULL,
	"ended_hung_up" integer DEFAULT 0 NOT NULL,
	"ended_no_input" integer DEFAULT 0 NOT NULL,
	"ended_not_understood" integer DEFAULT 0 NOT NULL,
	"ended_opted_out" integer DEFAULT 0 NOT NULL,
	"ended_failed" integer DEFAULT 0 NOT NULL,
	"ended_cut_short" integer DEFAULT 0 NOT NULL,
	"replies_0" integer DEFAULT 0 NOT NULL,
	"replies_1" integer DEFAULT 0 NOT NULL,
	"replies_2" integer DEFAULT 0 NOT NULL,
	"replies_3" integer DEFAULT 0 NOT NULL,
	"replies_4" integer DEFAULT 0 NOT NULL,
	"replies_5" integer DEFAULT 0 NOT NULL,
	"replies_6" integer DEFAULT 0 NOT NULL,
	"replies_7" integer DEFAULT 0 NOT NULL,
	"replies_8" integer DEFAULT 0 NOT NULL,
	"replies_9" integer DEFAULT 0 NOT NULL,
	"replies_10" integer DEFAULT 0 NOT NULL,
	"replies_11" integer DEFAULT 0 NOT NULL,
	"replies_12" integer DEFAULT 0 NOT NULL,
	"replies_13" integer DEFAULT 0 NOT NULL,
	"replies_14" integer DEFAULT 0 NOT NULL,
	"replies_15" integer DEFAULT 0 NOT NULL,
	"replies_16" integer DEFAULT 0 NOT NULL,
	"replies_17" integer DEFAULT 0 NOT NULL,
	"replies_18" integer DEFAULT 0 NOT NULL,
	"replies_19" integer DEFAULT 0 NOT NULL,
	"replies_20" integer DEFAULT 0 NOT NULL,
	"replies_21" integer DEFAULT 0 NOT NULL,
	"replies_22" integer DEFAULT 0 NOT NULL,
	"replies_23" integer DEFAULT 0 NOT NULL,
	"replies_24" integer DEFAULT 0 NOT NULL,
	"replies_25" integer DEFAULT 0 NOT NULL,
	"replies_26" integer DEFAULT 0 NOT NULL,
	"replies_27" integer DEFAULT 0 NOT NULL,
	"replies_28" integer DEFAULT 0 NOT NULL,
	"replies_29" integer DEFAULT 0 NOT NULL,
	"replies_30" integer DEFAULT 0 NOT NULL,
	"replies_31" integer DEFAULT 0 NOT NULL,
	"replies_32" integer DEFAULT 0 NOT NULL,
	"replies_33" integer DEFAULT 0 NOT NULL,
	"replies_34" integer DEFAULT 0 NOT NULL,
	"replies_35" integer DEFAULT 0 NOT NULL,
	"replies_36" integer DEFAULT 0 NOT NULL,
	"replies_37" integer DEFAULT 0 NOT NULL,
	"replies_38" integer DEFAULT 0 NOT NULL,
	"replies_39" integer DEFAULT 0 NOT NULL,
	"dispositions" jsonb,
	CONSTRAINT "rollups_pk" PRIMARY KEY("tenant_id","slot_ms","bot_name","bot_version","direction","currency")
);
--> statement-breakpoint
ALTER TABLE "offhook"."rollups" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."stale_slots" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "offhook"."stale_slots_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tenant_id" text NOT NULL,
	"slot_ms" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "offhook"."stale_slots" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "ending" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "result" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "answered" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "opted_out" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "cut_offs" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "not_understood" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "reviews_recent" ON "offhook"."reviews" USING btree ("tenant_id","state","started_at_ms" DESC NULLS FIRST,"call_id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "reviews_by_reason" ON "offhook"."reviews" USING gin ("reasons");--> statement-breakpoint
CREATE INDEX "stale_slots_of_tenant" ON "offhook"."stale_slots" USING btree ("tenant_id","slot_ms");--> statement-breakpoint
CREATE INDEX "calls_by_result" ON "offhook"."calls" USING btree ("tenant_id","result","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_cut_off" ON "offhook"."calls" USING btree ("tenant_id","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE cut_offs > 0;--> statement-breakpoint
CREATE INDEX "calls_not_understood" ON "offhook"."calls" USING btree ("tenant_id","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE not_understood > 0;--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."comments" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."reviews" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."rollups" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."stale_slots" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
-- Calls from before are counted by what is known of them; how often they were cut off or not understood is not.
UPDATE "offhook"."calls" SET
	"answered" = "answered_at_ms" IS NOT NULL AND coalesce("answered_by", 'person') = 'person',
	"opted_out" = coalesce("end_reason" IN ('opt-out', 'wrong-number'), false),
	"ending" = CASE
		WHEN "end_reason" IN ('transferred', 'no-input') THEN "end_reason"
		WHEN "end_reason" IN ('caller-said-goodbye', 'caller-hung-up', 'caller-hangup') THEN 'hung-up'
		WHEN "end_reason" IN ('not-understood', 'too-many-corrections') THEN 'not-understood'
		WHEN "end_reason" IN ('opt-out', 'wrong-number') THEN 'opted-out'
		WHEN "end_reason" IN ('flow-lost', 'speech-unavailable', 'dialog-failed', 'transfer-failed', 'internal-error', 'process-died') THEN 'failed'
		WHEN coalesce("end_reason", '') IN ('operator-hangup', 'cancelled', '', 'carrier-lost', 'max-duration', 'shutdown') THEN 'cut-short'
		ELSE 'finished'
	END
WHERE "ended_at_ms" IS NOT NULL AND "carrier" <> 'import';--> statement-breakpoint
UPDATE "offhook"."calls" SET "result" = CASE
	WHEN NOT "answered" THEN 'not-answered'
	WHEN "ending" = 'finished' OR "end_reason" = 'caller-said-goodbye' THEN 'contained'
	WHEN "ending" IN ('hung-up', 'no-input', 'not-understood') THEN 'given-up'
	ELSE "ending"
END
WHERE "ending" IS NOT NULL;--> statement-breakpoint
INSERT INTO "offhook"."stale_slots" ("tenant_id", "slot_ms")
SELECT DISTINCT "tenant_id", "started_at_ms" - "started_at_ms" % 900000 FROM "offhook"."calls" WHERE "ending" IS NOT NULL;
