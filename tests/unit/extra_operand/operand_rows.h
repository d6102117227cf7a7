/* A follower that Ostler does not have: with this row and its manifest the program is built that
 * test_extra_operand.c looks at. */
OPERAND(FEATURE_REPORTER, "feature-reporter", "featureReporter", FOLLOWER_FIELDS, NULL,
        .class = OPERAND_CLASS_FOLLOWER, .title = "feature reporter",
        .off_label = MARK_PREFIX "feature-reporter", .manifest = "feature-reporter/daemonset.yaml",
        .container = "reporter",
        .image = OPERAND_IMAGE(FEATURE_REPORTER, "nvcr.io/nvidia", "feature-reporter", "v1.2.3"),
        .variables = OPERAND_VARIABLES("NODE_NAME"))
