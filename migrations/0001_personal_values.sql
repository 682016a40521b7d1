CREATE TABLE "offhook"."call_keys" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"kind" text NOT NULL,
	"wrapped" "bytea" NOT NULL,
	CONSTRAINT "call_keys_tenant_id_call_id_kind_pk" PRIMARY KEY("tenant_id","call_id","kind")
);
--> statement-breakpoint
ALTER TABLE "offhook"."call_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."erasures" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"erased_at_ms" bigint NOT NULL,
	CONSTRAINT "erasures_tenant_id_call_id_pk" PRIMARY KEY("tenant_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."erasures" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."events" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"count" integer NOT NULL,
	"timeline" "bytea" NOT NULL,
	CONSTRAINT "events_tenant_id_call_id_pk" PRIMARY KEY("tenant_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."events" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."tenant_keys" (
	"tenant_id" text PRIMARY KEY NOT NULL,
	"wrapped" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "offhook"."tenant_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."unsealed" (
	"tenant_id" text NOT NULL,
	"call_id" text NOT NULL,
	"plain" jsonb NOT NULL,
	CONSTRAINT "unsealed_tenant_id_call_id_pk" PRIMARY KEY("tenant_id","call_id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."unsealed" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."webhook_deliveries" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"call_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"type" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer NOT NULL,
	"status" integer,
	"reason" text,
	"created_at_ms" bigint NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "webhook_deliveries_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."webhook_deliveries" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."attachments" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."legs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."turns" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP INDEX "offhook"."calls_recent";--> statement-breakpoint
ALTER TABLE "offhook"."analyses" DROP CONSTRAINT "analyses_tenant_id_call_id_version_pk";--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD COLUMN "profile" text DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD CONSTRAINT "analyses_tenant_id_call_id_profile_version_pk" PRIMARY KEY("tenant_id","call_id","profile","version");--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD COLUMN "disposition" text;--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD COLUMN "score" double precision;--> statement-breakpoint
ALTER TABLE "offhook"."analyses" ADD COLUMN "sealed_document" "bytea";--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "recording_object" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "disposition" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "analysis_state" text DEFAULT 'none' NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "legal_hold" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "audio_erased_at_ms" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "text_erased_at_ms" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "party_hash" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "line_hash" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "words" bigint[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "analysis_words" bigint[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "personal" "bytea";--> statement-breakpoint
ALTER TABLE "offhook"."turns" ADD COLUMN "personal" "bytea";--> statement-breakpoint
ALTER TABLE "offhook"."events" ADD CONSTRAINT "events_tenant_id_call_id_calls_tenant_id_id_fk" FOREIGN KEY ("tenant_id","call_id") REFERENCES "offhook"."calls"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_recent" ON "offhook"."webhook_deliveries" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_call" ON "offhook"."webhook_deliveries" USING btree ("tenant_id","call_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "offhook"."webhook_deliveries" USING btree ("updated_at_ms") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "analyses_recent" ON "offhook"."analyses" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"call_id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_bot" ON "offhook"."calls" USING btree ("tenant_id","bot_name","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_disposition" ON "offhook"."calls" USING btree ("tenant_id","disposition","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_party" ON "offhook"."calls" USING btree ("tenant_id","party_hash","started_at_ms" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_line" ON "offhook"."calls" USING btree ("tenant_id","line_hash","started_at_ms" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "calls_by_words" ON "offhook"."calls" USING gin ("words");--> statement-breakpoint
CREATE INDEX "calls_by_analysis_words" ON "offhook"."calls" USING gin ("analysis_words");--> statement-breakpoint
CREATE INDEX "calls_to_analyse" ON "offhook"."calls" USING btree ("ended_at_ms") WHERE analysis_state = 'pending';--> statement-breakpoint
CREATE INDEX "calls_with_audio" ON "offhook"."calls" USING btree ("bot_name","ended_at_ms") WHERE audio_erased_at_ms IS NULL AND NOT legal_hold;--> statement-breakpoint
CREATE INDEX "calls_with_text" ON "offhook"."calls" USING btree ("bot_name","ended_at_ms") WHERE text_erased_at_ms IS NULL AND NOT legal_hold;--> statement-breakpoint
CREATE INDEX "calls_recent" ON "offhook"."calls" USING btree ("tenant_id","started_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."analyses" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."attachments" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."calls" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."legs" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."turns" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."call_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."erasures" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."events" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."tenant_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."unsealed" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."webhook_deliveries" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
-- Plain text of the first schema, kept aside until the program that has the keys seals it.
INSERT INTO "offhook"."unsealed" ("tenant_id", "call_id", "plain")
SELECT c."tenant_id", c."id", jsonb_build_object(
	'from', c."from_number", 'to', c."to_number", 'digits', c."digits", 'timeline', c."timeline",
	'turns', (SELECT coalesce(jsonb_agg(jsonb_build_object('index', t."index", 'callerText', t."caller_text", 'botText', t."bot_text", 'botHeardText', t."bot_heard_text")), '[]') FROM "offhook"."turns" t WHERE t."tenant_id" = c."tenant_id" AND t."call_id" = c."id"),
	'analyses', (SELECT coalesce(jsonb_agg(jsonb_build_object('version', a."version", 'document', a."document")), '[]') FROM "offhook"."analyses" a WHERE a."tenant_id" = c."tenant_id" AND a."call_id" = c."id"))
FROM "offhook"."calls" c;--> statement-breakpoint
-- The role under which one tenant's rows are read and written. Who may not make roles goes without it (docs/operating.md).
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'offhook_tenant') THEN
		CREATE ROLE offhook_tenant NOLOGIN;
	END IF;
	EXECUTE format('GRANT offhook_tenant TO %I', current_user);
EXCEPTION
	-- Another database of the same server is being migrated, or this user makes no roles.
	WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
END
$$;--> statement-breakpoint
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'offhook_tenant') THEN
		GRANT USAGE ON SCHEMA "offhook" TO offhook_tenant;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "offhook" TO offhook_tenant;
		ALTER DEFAULT PRIVILEGES IN SCHEMA "offhook" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO offhook_tenant;
	END IF;
END
$$;
