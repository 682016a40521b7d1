CREATE TABLE "offhook"."idempotency_keys" (
	"tenant_id" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"status" integer,
	"location" text,
	"answer" jsonb,
	CONSTRAINT "idempotency_keys_tenant_id_key_pk" PRIMARY KEY("tenant_id","key")
);
--> statement-breakpoint
ALTER TABLE "offhook"."idempotency_keys" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."submission_items" (
	"tenant_id" text NOT NULL,
	"submission_id" text NOT NULL,
	"index" integer NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"updated_at_ms" bigint NOT NULL,
	"upload_object" text,
	"sha256" text,
	"bytes" bigint,
	"profile_key" text,
	"disposition" text,
	"score" double precision,
	"code" text,
	"reason" text,
	"personal" "bytea" NOT NULL,
	"document" "bytea",
	CONSTRAINT "submission_items_tenant_id_submission_id_index_pk" PRIMARY KEY("tenant_id","submission_id","index")
);
--> statement-breakpoint
ALTER TABLE "offhook"."submission_items" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "offhook"."submissions" (
	"tenant_id" text NOT NULL,
	"id" text NOT NULL,
	"profile" text NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"ended_at_ms" bigint,
	"announced_at_ms" bigint,
	"round" integer DEFAULT 0 NOT NULL,
	"queued" integer DEFAULT 0 NOT NULL,
	"running" integer DEFAULT 0 NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"cancelled" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "submissions_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "offhook"."submissions" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "offhook"."submission_items" ADD CONSTRAINT "submission_items_tenant_id_submission_id_submissions_tenant_id_id_fk" FOREIGN KEY ("tenant_id","submission_id") REFERENCES "offhook"."submissions"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_old" ON "offhook"."idempotency_keys" USING btree ("created_at_ms");--> statement-breakpoint
CREATE INDEX "submission_items_by_content" ON "offhook"."submission_items" USING btree ("tenant_id","sha256","profile_key") WHERE state = 'done';--> statement-breakpoint
CREATE INDEX "submission_items_open" ON "offhook"."submission_items" USING btree ("updated_at_ms") WHERE state IN ('queued', 'running');--> statement-breakpoint
CREATE INDEX "submissions_recent" ON "offhook"."submissions" USING btree ("tenant_id","created_at_ms" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "submissions_unannounced" ON "offhook"."submissions" USING btree ("ended_at_ms") WHERE announced_at_ms IS NULL;--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."idempotency_keys" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."submission_items" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));--> statement-breakpoint
CREATE POLICY "of_tenant" ON "offhook"."submissions" AS PERMISSIVE FOR ALL TO public USING (tenant_id = current_setting('app.tenant', true)) WITH CHECK (tenant_id = current_setting('app.tenant', true));