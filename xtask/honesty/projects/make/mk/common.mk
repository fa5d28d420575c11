RUN = sh
