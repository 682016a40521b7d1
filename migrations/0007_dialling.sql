CREATE TABLE "offhook"."attempts" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"state" text NOT NULL,
	"bot_name" text NOT NULL,
	"carrier" text NOT NULL,
	"carrier_call_id" text,
	"campaign_id" text,
	"contact_id" text,
	"index" integer NOT NULL,
	"caller_id" text NOT NULL,
	"ring_timeout_ms" integer NOT NULL,
	"purpose" text,
	"profile" text NOT NULL,
	"duties" json NOT NULL,
	"decision_sequence" bigint NOT NULL,
	"place_by_ms" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"placed_at_ms" bigint,
	"ringing_at_ms" bigint,
	"answered_at_ms" bigint,
	"ended_at_ms" bigint,
	"answered_by" text,
	"disposition" text,
	"cause" text,
	"call_back_at_ms" bigint,
	"lease_owner" text,
	"lease_until_ms" bigint,
	"text_erased_at_ms" bigint,
	"number_hash" text,
	"personal" "bytea",
	CONSTRAINT "attempts_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."attempts" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."consents" (
	"tenant_id" text NOT NULL,
	"reference" text NOT NULL,
	"number_hash" text,
	"id" text NOT NULL,
	"level" text NOT NULL,
	"purposes" text[] NOT NULL,
	"given_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint,
	"withdrawn_at_ms" bigint,
	"personal" "bytea",
	CONSTRAINT "consents_tenant_id_reference_pk" PRIMARY KEY("tenant_id","reference")
);
--> statement-breakpoint
ALTER TABLE "offhook"."consents" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_decisions" (
	"tenant_id" text NOT NULL,
	"sequence" bigint NOT NULL,
	"at_ms" bigint NOT NULL,
	"body" text NOT NULL,
	"previous_hash" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "dial_decisions_tenant_id_sequence_pk" PRIMARY KEY("tenant_id","sequence")
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_decisions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_heads" (
	"tenant_id" text PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"hash" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_heads" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."dial_subjects" (
	"tenant_id" text NOT NULL,
	"number_hash" text NOT NULL,
	"subject" text NOT NULL,
	CONSTRAINT "dial_subjects_tenant_id_number_hash_pk" PRIMARY KEY("tenant_id","number_hash")
);
--> statement-breakpoint
ALTER TABLE "offhook"."dial_subjects" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."suppression_lists" (
	"tenant_id" text NOT NULL,
	"list" text NOT NULL,
	"obtained_at_ms" bigint NOT NULL,
	CONSTRAINT "suppression_lists_tenant_id_list_pk" PRIMARY KEY("tenant_id","list")
);
--> statement-breakpoint
ALTER TABLE "offhook"."suppression_lists" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."suppressions" (
	"tenant_id" text NOT NULL,
	"number_hash" text NOT NULL,
	"list" text NOT NULL,
	"added_at_ms" bigint NOT NULL,
	"until_ms" bigint,
	"source" text NOT NULL,
	"call_id" text,
	"erased_at_ms" bigint,
	"personal" "bytea",
	CONSTRAINT "suppressions_tenant_id_number_hash_list_pk" PRIMARY KEY("tenant_id","number_hash","list")
);
--> statement-breakpoint
ALTER TABLE "offhook"."suppressions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE INDEX "attempts_recent" ON "offhook"."attempts" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "attempts_of_number" ON "offhook"."attempts" USING btree ("tenant_id","number_hash","created_at_ms" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "attempts_of_campaign" ON "offhook"."attempts" USING btree ("tenant_id","campaign_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST) WHERE campaign_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_of_contact" ON "offhook"."attempts" USING btree ("tenant_id","contact_id") WHERE contact_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_by_carrier_id" ON "offhook"."attempts" USING btree ("tenant_id","carrier","carrier_call_id") WHERE carrier_call_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "attempts_live" ON "offhook"."attempts" USING btree ("lease_owner","lease_until_ms") WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX "attempts_with_text" ON "offhook"."attempts" USING btree ("bot_name","ended_at_ms") WHERE text_erased_at_ms IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "consents_of_number" ON "offhook"."consents" USING btree ("tenant_id","number_hash","id");--> statement-breakpoint
CREATE INDEX "consents_by_time" ON "offhook"."consents" USING btree ("tenant_id","given_at_ms","reference");--> statement-breakpoint
CREATE INDEX "suppressions_by_time" ON "offhook"."suppressions" USING btree ("tenant_id","added_at_ms","number_hash","list");--> statement-breakpoint
CREATE INDEX "suppressions_of_list" ON "offhook"."suppressions" USING btree ("tenant_id","list","added_at_ms","number_hash");--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."attempts" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."consents" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_decisions" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_heads" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."dial_subjects" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."suppression_lists" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."suppressions" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
-- The log of decisions only grows: the tenants' role may neither change nor delete an entry.
DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'offhook_tenant') THEN
		REVOKE UPDATE, DELETE, TRUNCATE ON "offhook"."dial_decisions" FROM offhook_tenant;
	END IF;
END
$$;
